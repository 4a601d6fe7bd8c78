"""First names, initials and surnames of the town. Any likeness to a person is chance."""

_FEMALE_NAMES = """
    Abigail Ada Adele Agnes Alexandra Alice Alicia Alma Amanda Amelia Amy Andrea Angela Anita Anna Annette
    April Audrey Barbara Beatrice Bella Bernice Bertha Beth Betty Beverly Bonnie Brenda Bridget Camila Carla
    Carmen Carol Caroline Catherine Cecilia Charlotte Cheryl Christina Claire Clara Claudia Colleen Connie
    Cora Crystal Cynthia Daisy Dana Danielle Daphne Deborah Delia Denise Diana Dolores Donna Doris Dorothy
    Edith Eileen Elaine Eleanor Elena Elizabeth Ella Ellen Elsie Emily Emma Erica Esther Ethel Eva Evelyn
    Fatima Felicia Fiona Florence Frances Gabriela Gail Georgia Geraldine Gertrude Gladys Gloria Grace
    Gwendolyn Hannah Harriet Hazel Heather Heidi Helen Holly Ida Ingrid Irene Iris Isabel Ivy Jacqueline
    Jane Janet Janice Jasmine Jean Jennifer Jessica Jill Joan Jocelyn Josephine Joyce Juanita Judith Julia
    June Karen Katherine Kathleen Kayla Kelly Kimberly Kristen Laura Lauren Leah Lena Leticia Lillian Linda
    Lisa Lois Lorraine Louise Lucia Lucille Lucy Lydia Mabel Madeline Maria Marian Marjorie Martha Mary
    Maureen Megan Melanie Melissa Mercedes Michelle Mildred Miranda Miriam Molly Monica Nancy Naomi Natalie
    Nicole Nina Nora Norma Olga Olive Olivia Pamela Patricia Paula Pauline Pearl Peggy Penelope Phyllis
    Priscilla Rachel Ramona Rebecca Regina Renee Rita Roberta Rosa Rosemary Ruby Ruth Sabrina Sally Samantha
    Sandra Sara Sharon Sheila Shirley Silvia Sofia Sonia Stella Stephanie Susan Sylvia Tamara Tara Teresa
    Thelma Tiffany Tracy Ursula Valerie Vanessa Vera Veronica Victoria Viola Virginia Vivian Wanda Wendy
    Whitney Wilma Winifred Yolanda Yvonne Zoe
"""
_MALE_NAMES = """
    Aaron Abel Adam Adrian Alan Albert Alejandro Alexander Alfred Allen Alvin Amos Andre Andrew Angelo
    Anthony Antonio Arnold Arthur Austin Barry Benjamin Bernard Blake Bradley Brandon Brent Brian Bruce
    Bryan Byron Caleb Calvin Carl Carlos Cecil Cesar Chad Charles Chester Christian Christopher Clarence
    Clayton Clifford Clyde Cody Colin Conrad Craig Curtis Dale Daniel Darren David Dean Dennis Derek Diego
    Dominic Donald Douglas Duane Dustin Dwight Earl Edgar Edmund Eduardo Edward Edwin Eli Elias Elliott
    Elmer Emilio Enrique Eric Ernest Eugene Evan Felix Fernando Floyd Francis Frank Franklin Frederick
    Gabriel Garrett Gary Geoffrey George Gerald Gilbert Glenn Gordon Grant Gregory Guy Harold Harry Harvey
    Hector Henry Herbert Herman Homer Horace Howard Hubert Hugh Ian Isaac Ivan Jack Jacob James Jason Javier
    Jay Jeffrey Jeremy Jerome Jesse Joel John Jonathan Jorge Joseph Joshua Juan Julian Justin Karl Keith
    Kenneth Kevin Kirk Kurt Kyle Lance Larry Lawrence Leo Leon Leonard Leroy Leslie Lester Lloyd Louis Lucas
    Luis Luther Malcolm Manuel Marco Marcus Mark Martin Marvin Matthew Maurice Max Melvin Michael Miguel
    Milton Mitchell Morris Nathan Neil Nelson Nicholas Noah Norman Oliver Omar Orville Oscar Otto Owen Pablo
    Patrick Paul Pedro Perry Peter Philip Preston Quentin Ralph Ramon Randall Raul Raymond Reginald Ricardo
    Richard Robert Roberto Rodney Roger Roland Ronald Ross Roy Ruben Rudolph Russell Salvador Samuel Scott
    Sean Sergio Seth Shane Sidney Simon Spencer Stanley Stephen Steven Stuart Terrence Theodore Thomas
    Timothy Todd Tony Travis Trevor Tyler Vernon Victor Vincent Virgil Wallace Walter Warren Wayne Wesley
    Wilbur Willard William Willis Xavier Zachary
"""
_SURNAMES = """
    Abbott Acosta Adams Aguilar Alexander Allen Alvarez Anderson Andrews Armstrong Arnold Austin Avila
    Bailey Baker Baldwin Banks Barber Barker Barnes Barnett Barrett Barton Bates Beck Becker Bell Bennett
    Benson Berry Bishop Black Blair Blake Bowen Bowman Boyd Bradley Brady Brewer Bridges Briggs Brooks Brown
    Bryant Buchanan Burgess Burke Burns Burton Bush Butler Byrd Caldwell Campbell Campos Cannon Carlson
    Carpenter Carr Carroll Carson Carter Castillo Castro Chan Chandler Chapman Chavez Chen Christensen Clark
    Clayton Cohen Cole Coleman Collins Conner Contreras Cook Cooper Cortez Cox Craig Crawford Cross Cruz
    Cummings Cunningham Curry Curtis Dalton Daniels Davidson Davis Dawson Dean Delgado Diaz Dixon Doyle
    Duncan Dunn Duran Eaton Edwards Elliott Ellis Erickson Espinoza Estrada Evans Farmer Ferguson Fernandez
    Fields Figueroa Fischer Fisher Fitzgerald Fleming Fletcher Flores Flynn Ford Foster Fowler Fox Francis
    Franklin Frazier Freeman French Fuller Garcia Gardner Garner Garrett Garza Gibson Gilbert Glover Gomez
    Gonzalez Goodman Goodwin Gordon Graham Grant Graves Gray Green Greene Griffin Griffith Gross Guerrero
    Gutierrez Guzman Hale Hall Hamilton Hammond Hansen Hanson Harding Hardy Harmon Harper Harrington Harris
    Harrison Hart Harvey Hawkins Hayes Henderson Henry Hernandez Herrera Hicks Higgins Hill Hines Hodges
    Hoffman Holland Holloway Holmes Holt Hopkins Horton Houston Howard Howell Hubbard Hudson Hughes Hunt
    Hunter Ingram Jackson Jacobs James Jefferson Jenkins Jennings Jensen Jimenez Johnson Johnston Jones
    Jordan Joseph Juarez Keller Kelley Kelly Kennedy Kim King Klein Knight Lambert Lane Larson Lawrence
    Lawson Leonard Lewis Lindsey Little Logan Long Lopez Lowe Lucas Luna Lynch Lyons Mack Maldonado Malone
    Mann Manning Marquez Marsh Marshall Martin Martinez Mason Maxwell May McBride McCarthy McCoy McDaniel
    McDonald McGee McKinney Medina Mejia Mendez Mendoza Meyer Miles Miller Mills Miranda Mitchell Molina
    Montgomery Moore Morales Moran Moreno Morgan Morris Morrison Moss Mullins Munoz Murphy Murray Myers
    Navarro Neal Nelson Newman Newton Nguyen Nichols Norman Norris Norton Nunez Obrien Ochoa Oliver Olson
    Orozco Ortega Ortiz Osborne Owens Pacheco Padilla Page Palmer Park Parker Parks Parsons Patel Patterson
    Patton Payne Pearson Pena Perez Perkins Perry Peters Peterson Pham Phillips Pierce Porter Potter Powell
    Powers Price Quinn Ramirez Ramos Ramsey Ray Reed Reese Reeves Reid Reyes Reynolds Rhodes Rice Richards
    Riley Rios Rivera Robbins Roberts Robertson Robinson Rodgers Rodriguez Rogers Rojas Romero Rose Ross
    Rowe Ruiz Russell Ryan Salazar Salinas Sanchez Sanders Sandoval Santiago Saunders Schmidt Schneider
    Schultz Schwartz Scott Serrano Shaw Shelton Sherman Silva Simmons Simon Simpson Singh Smith Snyder Solis
    Soto Sparks Spencer Stanley Steele Stephens Stevens Stewart Stokes Stone Strickland Sullivan Summers
    Sutton Swanson Tate Taylor Terry Thomas Thompson Thornton Todd Torres Townsend Tran Tucker Turner Tyler
    Underwood Valdez Vargas Vasquez Vaughn Vega Wade Wagner Walker Wallace Walsh Walters Walton Wang Ward
    Warner Warren Washington Waters Watkins Watson Watts Weaver Webb Weber Webster Welch Wells West Wheeler
    White Wilkins Williams Willis Wilson Wolfe Wong Wood Woods Wright Wu Yang Yates Young Zhang Zimmerman
    Zuniga
"""

FEMALE_NAMES = tuple(_FEMALE_NAMES.split())
MALE_NAMES = tuple(_MALE_NAMES.split())
SURNAMES = tuple(_SURNAMES.split())
INITIALS = tuple("ABCDEFGHIJKLMNOPRSTVW")
